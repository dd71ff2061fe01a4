// Copies the checkout of the bench, and goes to the ref in it, which is fetched.
const { execFileSync } = require("node:child_process");
const path = require("node:path");

const place = path.join(process.env.GITHUB_WORKSPACE, process.env.INPUT_PATH || "");
const git = (...words) => execFileSync("git", ["-C", place, ...words], { stdio: "inherit" });
execFileSync("mkdir", ["-p", place]);
execFileSync("cp", ["-a", `${process.env.BENCH_CHECKOUT}/.`, place]);
if (process.env.INPUT_REF) {
  const depth = process.env["INPUT_FETCH-DEPTH"] || "1";
  git("fetch", "--quiet", `--depth=${depth}`, "origin", process.env.INPUT_REF);
  git("checkout", "--quiet", "--detach", "--force", "FETCH_HEAD");
}
