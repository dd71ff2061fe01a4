console.error("::error::a scenario reached actions/setup-node, which has no stand-in that does anything");
process.exit(1);
