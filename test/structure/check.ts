import { resolve } from 'node:path';
import { markdownFiles, sourceFiles } from './source.ts';
import { longLines, structureProblems } from './structure.ts';

/** Checks the structure of this project: prints nothing, or what is wrong, with exit code 1. */
const root = resolve(import.meta.dirname, '../..');
const problems = [...structureProblems(sourceFiles(root)), ...longLines(markdownFiles(root))];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
