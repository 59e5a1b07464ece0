import { startProvider } from './provider.ts';

/** What a proxy answers itself; undefined for what it passes on. */
export type Answer = (path: string) => Response | Promise<Response> | undefined;

/** Stands before the service. Returns its URL, the paths of requests in order, and how to stop. */
export async function startProxy(baseUrl: string, answer: Answer) {
  const paths: string[] = [];
  const server = await startProvider(async (request) => {
    const { pathname, search } = new URL(request.url);
    paths.push(pathname + search);
    const own = answer(pathname + search);
    if (own) return own;
    const reply = await fetch(baseUrl + pathname + search, request);
    return Response.json(await reply.json(), { status: reply.status });
  });
  return { ...server, paths };
}
