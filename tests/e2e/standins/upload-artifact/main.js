// Finds files by the same library with the same options as actions/upload-artifact, and uploads
// them by the same client. `archive: false` is not there: it raises.
const { statSync } = require("node:fs");
const path = require("node:path");
const core = require("@actions/core");
const glob = require("@actions/glob");
const { default: client, ArtifactNotFoundError } = require("@actions/artifact");

async function main() {
  const name = core.getInput("name");
  if (!core.getBooleanInput("archive")) throw new Error("the stand-in has no archive: false");
  const globber = await glob.create(core.getInput("path", { required: true }), {
    followSymbolicLinks: true,
    implicitDescendants: true,
    omitBrokenSymbolicLinks: true,
    excludeHiddenFiles: !core.getBooleanInput("include-hidden-files"),
  });
  const files = (await globber.glob()).filter((file) => !statSync(file).isDirectory());
  const [root, ...more] = globber.getSearchPaths();
  if (more.length) throw new Error("the stand-in takes one search path");
  if (!files.length) {
    const text = `No files were found with the provided path: ${root}. No artifacts will be uploaded.`;
    const act = { warn: core.warning, error: core.setFailed, ignore: core.info };
    return act[core.getInput("if-no-files-found")](text);
  }
  if (core.getBooleanInput("overwrite"))
    await client.deleteArtifact(name).catch((error) => {
      if (!(error instanceof ArtifactNotFoundError)) core.debug(error.message);
    });
  const single = files.length === 1 && files[0] === root;
  const days = parseInt(core.getInput("retention-days"), 10);
  const done = await client.uploadArtifact(name, files, single ? path.dirname(root) : root, {
    compressionLevel: Number(core.getInput("compression-level")),
    ...(days ? { retentionDays: days } : {}),
  });
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = process.env;
  core.setOutput("artifact-id", done.id);
  core.setOutput("artifact-digest", done.digest);
  core.setOutput(
    "artifact-url",
    `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}/artifacts/${done.id}`,
  );
}

main().catch((error) => core.setFailed(error.message));
