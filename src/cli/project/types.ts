import { wranglerOutput } from './wrangler.ts';

/** Writes TypeScript types of the bindings in wrangler.toml. Prints nothing unless it fails. */
await wranglerOutput('types', 'src/core/platform/env.d.ts', '--include-runtime=false');
