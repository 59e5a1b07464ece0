import { emptyState } from '../../../src/cli/local/migrate.ts';
import { browserPath } from './browser.ts';

/** Does once what tests that start side by side would each do: migrates, and unpacks the browser. */
export default async function setUp(): Promise<void> {
  await emptyState();
  await browserPath();
}
