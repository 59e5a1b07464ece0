import { runWrangler } from './wrangler.ts';

/** Writes TypeScript types of the bindings in wrangler.toml. Prints nothing unless it fails. */
const { ok, text } = await runWrangler(['types', 'src/platform/env.d.ts', '--include-runtime=false']);
if (!ok) {
  console.error(text);
  process.exitCode = 1;
}
