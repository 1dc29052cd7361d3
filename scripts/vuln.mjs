// Reads govulncheck's JSON and fails on findings in modules whose vulnerable function is called.
// Those of the standard library are only listed: the release of Go that mends them is not ours to pick.
import { readFileSync } from "node:fs";

// The file is a row of JSON objects, each beginning with "{" alone at the start of a line.
const text = readFileSync(process.argv[2], "utf8");
const objects = text.split(/^(?=\{)/m).filter((s) => s.trim() !== "").map((s) => JSON.parse(s));
if (!objects.some((o) => o.config)) {
  console.log("govulncheck said nothing: no config object in its output");
  process.exit(1);
}
const called = new Map();
for (const { finding } of objects) {
  const top = finding?.trace?.[0];
  if (top?.function) called.set(`${finding.osv} ${top.module}@${top.version}`, { top, fixed: finding.fixed_version });
}
let bad = 0;
for (const [key, { top, fixed }] of called) {
  const ours = top.module !== "stdlib";
  if (ours) bad++;
  console.log(`${ours ? "FAIL" : "note"} ${key}: ${top.package}.${top.function} is called; fixed in ${fixed || "no version yet"}`);
}
console.log(`${called.size} called findings, ${bad} outside the standard library`);
process.exit(bad === 0 ? 0 : 1);
