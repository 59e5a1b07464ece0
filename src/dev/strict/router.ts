import { cellHeader, mainCell } from '../../core/platform/cells.ts';
import { boundCells } from '../../router/cells.ts';
import { router } from '../../router/index.ts';
import { invoked } from './limits.ts';

export { Ingest } from '../../router/index.ts';

/** The unchanged router, which also passes on what is for a cell's runtime, and the cron job. */
export default {
  fetch: async (request, env, ctx) => {
    if (!new URL(request.url).pathname.startsWith('/strict/'))
      return invoked(async () => router.fetch(request, env, ctx));
    const cell = boundCells<Fetcher>(env).get(request.headers.get(cellHeader) ?? mainCell);
    return cell ? cell.fetch(request) : Response.error();
  },
  async scheduled({ scheduledTime }, env) {
    const cells = [...boundCells<Fetcher>(env).values()];
    await Promise.all(
      cells.map((cell) => cell.fetch(`http://cell/strict/minute/${scheduledTime}`)),
    );
  },
} satisfies ExportedHandler<Env>;
