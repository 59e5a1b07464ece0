import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, which is deleted when all tests have ended. */
export const temporaryFolder = (): string =>
  mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'fleet-'));
