import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Stack, startStack } from '../local/stack.ts';
import { localDirectory } from '../project/paths.ts';

/** Starts a service for measuring: with no data, no rate limit, and the bare Worker beside it. */
export async function benchStack(
  name: string,
  homes: string[] = [],
): Promise<{ stack: Stack; directory: string }> {
  const directory = join(localDirectory, `bench-${name}`);
  rmSync(directory, { recursive: true, force: true });
  const stack = await startStack({ directory, port: 0, config: benchConfig, homes });
  return { stack, directory };
}

/** The service's configuration with the benchmark's Worker, a queue for the bare consumer, and limits out of reach. */
const benchConfig = (toml: string): string =>
  `${toml
    .replace('main = "src/index.ts"', 'main = "src/dev/bench/worker.ts"')
    .replaceAll(/limit = \d+/g, 'limit = 1000000000')}
[[queues.producers]]
binding = "BARE"
queue = "bare"

[[queues.consumers]]
queue = "bare"
max_batch_size = 100
max_batch_timeout = 0
max_retries = 10
max_concurrency = 20

[[queues.producers]]
binding = "BARE_LANE"
queue = "bare-lane"

[[queues.consumers]]
queue = "bare-lane"
max_batch_size = 5
max_batch_timeout = 0
max_retries = 0
`;
