// Prints what GitHub's own language service says about workflows and action files, as JSON: a list
// of {file, line, message, severity}; line counts from 1, severity is 1 for an error, 2 a warning.
//
// usage: node check.mjs ACTIONS_JSON FILE...
//
// ACTIONS_JSON has the inputs of every action that may be used: {"checkout": {"ref": {...}}}.
import { readFileSync } from "node:fs";
import { validate } from "@actions/languageservice";
import { TextDocument } from "vscode-languageserver-textdocument";

const [known, ...files] = process.argv.slice(2);
const actions = JSON.parse(known);
const config = {
  actionsMetadataProvider: {
    fetchActionMetadata: async ({ name }) =>
      name in actions ? { name, description: "", inputs: actions[name] } : undefined,
  },
};

async function main() {
  const found = [];
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    const document = TextDocument.create(`file://${file}`, "yaml", 0, text);
    for (const one of await validate(document, config))
      found.push({
        file,
        line: one.range.start.line + 1,
        message: one.message,
        severity: one.severity ?? 1,
      });
  }
  process.stdout.write(JSON.stringify(found));
}

main();
