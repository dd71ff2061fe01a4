// Chooses artifacts as actions/download-artifact does, and downloads them by the same client. What
// it does not have raises. A single artifact goes right into the folder, as in the original.
const path = require("node:path");
const core = require("@actions/core");
const { Minimatch } = require("minimatch");
const { default: client } = require("@actions/artifact");

async function main() {
  for (const name of ["artifact-ids", "skip-decompress"])
    if (core.getInput(name) && core.getInput(name) !== "false")
      throw new Error(`the stand-in has no ${name}`);
  const folder = path.resolve(core.getInput("path") || process.env.GITHUB_WORKSPACE);
  const token = core.getInput("github-token");
  const [repositoryOwner, repositoryName] = core.getInput("repository").split("/");
  const workflowRunId = parseInt(core.getInput("run-id"), 10);
  const findBy = { token, workflowRunId, repositoryOwner, repositoryName };
  const options = token ? { findBy } : {};
  const name = core.getInput("name");
  let found;
  if (name) {
    found = [(await client.getArtifact(name, options)).artifact];
  } else {
    found = (await client.listArtifacts({ latest: true, ...options })).artifacts;
    const pattern = core.getInput("pattern");
    if (pattern) found = found.filter((one) => new Minimatch(pattern).match(one.name));
  }
  const flat = name || core.getBooleanInput("merge-multiple") || found.length === 1;
  for (const one of found) {
    const done = await client.downloadArtifact(one.id, {
      ...options,
      path: flat ? folder : path.join(folder, one.name),
      expectedHash: one.digest,
    });
    if (done.digestMismatch && core.getInput("digest-mismatch") === "error")
      throw new Error(`Digest validation failed for artifact(s): ${one.name}.`);
  }
  core.info(`Total of ${found.length} artifact(s) downloaded`);
  core.setOutput("download-path", folder);
}

main().catch((error) => core.setFailed(`Unable to download artifact(s): ${error.message}`));
