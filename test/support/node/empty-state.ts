import { emptyState } from '../../../src/cli/local/migrate.ts';

/** Migrates once, before stacks that start side by side would each do so. */
export default async function setUp(): Promise<void> {
  await emptyState();
}
