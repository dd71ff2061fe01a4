// Renders markdown as GitHub does, and tells what that would create.
// A JSON string on each line of stdin is a body; a JSON object on each line of stdout is the answer.
import { createInterface } from "node:readline";
import rehypeRaw from "rehype-raw";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkAlert from "remark-github-blockquote-alert";
import remarkGfm from "remark-gfm";
import remarkGithub from "remark-github";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";

const alertClass = [["className", /^markdown-alert/]];
const attributes = { ...defaultSchema.attributes, div: alertClass, p: alertClass };
const schema = { ...defaultSchema, attributes };

const markdown = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkGithub, { repository: "oracle/references" })
  .use(remarkAlert);
const toHtml = unified()
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeRaw)
  .use(rehypeSanitize, schema);
const writer = unified().use(rehypeStringify);

// What GitHub makes something of in text that is outside code and links, after rendering.
const acting = {
  mention: /(?<![\w`/@.-])@[a-z\d][\w-]*/i,
  reference: /(?<!\w)#\d+|\bGH-\d+/i,
  commit: /\b[0-9a-f]{7,40}\b/i,
  address: /https?:\/\/|\bwww\.|mailto:|[\w.]+@[\w.]+/i,
  emoji: /:[a-z][a-z0-9_+-]*:/,
  math: /\$/,
};

function visit(node, inside, found) {
  const inert = inside || ["code", "pre", "a"].includes(node.tagName);
  if (node.type === "text" && !inside) {
    for (const [kind, pattern] of Object.entries(acting)) {
      const match = pattern.exec(node.value);
      if (match) found.acting.push(`${kind}: ${match[0]}`);
    }
  }
  if (node.tagName === "a" && node.properties.href) found.links.push(node.properties.href);
  if (node.tagName === "img") found.images.push(node.properties.src ?? "");
  for (const child of node.children ?? []) visit(child, inert, found);
}

function skeleton(node) {
  if (node.type !== "element" && node.type !== "root") return "";
  const inner = (node.children ?? []).map(skeleton).join("");
  return node.type === "root" ? inner : `<${node.tagName}>${inner}</${node.tagName}>`;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const tree = await markdown.run(markdown.parse(JSON.parse(line)));
  const html = await toHtml.run(tree);
  const found = { acting: [], links: [], images: [] };
  visit(html, false, found);
  const answer = { ...found, skeleton: skeleton(html), html: writer.stringify(html) };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
