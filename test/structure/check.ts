import { resolve } from 'node:path';
import { markdownFiles, sourceFiles } from './source.ts';
import { longLines, roomsMisdrawn, structureProblems } from './structure.ts';

/** Checks the structure of this project: prints nothing, or what is wrong, with exit code 1. */
const root = resolve(import.meta.dirname, '../..');
const files = sourceFiles(root);
const documents = markdownFiles(root);
const architecture = documents.find(({ path }) => path.endsWith('/architecture.md'))?.text ?? '';
const problems = [
  ...structureProblems(files),
  ...roomsMisdrawn(files, architecture),
  ...longLines(documents),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
