// Finds files by the same library as actions/attest.
const path = require("node:path");
const core = require("@actions/core");
const glob = require("@actions/glob");

async function find(pattern) {
  const files = await (await glob.create(pattern)).glob();
  if (!files.length) throw new Error(`nothing is named ${pattern}`);
  return files.map((file) => path.relative("", file)).sort();
}

async function main() {
  const [files, sbom] = [core.getInput("subject-path"), core.getInput("sbom-path")];
  const image = `${core.getInput("subject-name")}@${core.getInput("subject-digest")}`;
  const words = ["attested", ...(files ? await find(files) : [image])];
  if (sbom) words.push("with", ...(await find(sbom)));
  core.info(words.join(" "));
}

main().catch((error) => core.setFailed(error.message));
