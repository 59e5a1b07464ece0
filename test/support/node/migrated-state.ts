import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../../src/cli/local/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with an empty local database, which all stacks of a run begin with a copy of. */
    migratedState: string;
  }
}

/** Migrates once for all stacks of a run. */
export default async function setUp(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'fleet-state-'));
  await migrate(directory);
  project.provide('migratedState', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
