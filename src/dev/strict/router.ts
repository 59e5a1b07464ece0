import { cellHeader } from '../../platform/cells.ts';
import { router } from '../../router/index.ts';
import { invoked } from './limits.ts';

export { Ingest } from '../../router/index.ts';

type Cells = { [binding: string]: Fetcher };

/** The unchanged router, which also passes on what is meant for a cell's runtime, and the cron job for all of them. */
export default {
  fetch: async (request, env, ctx) => {
    if (!new URL(request.url).pathname.startsWith('/strict/'))
      return invoked(async () => router.fetch(request, env, ctx));
    const cell = env[`CELL_${request.headers.get(cellHeader)?.toUpperCase()}`];
    return cell ? cell.fetch(request) : Response.error();
  },
  async scheduled({ scheduledTime }, env) {
    const cells = Object.keys(env).filter((name) => name.startsWith('CELL_'));
    await Promise.all(cells.map((name) => env[name]?.fetch(`http://cell/strict/minute/${scheduledTime}`)));
  },
} satisfies ExportedHandler<Cells & Env>;
