export type Got = {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: { timestamp: string; type: number; data: Record<string, unknown> };
};

type Respond = (got: Got) => Response | Promise<Response>;

let made = Date.now(); // beyond those of earlier files

/** A URL for a webhook, which no other has. */
export const hookUrl = () => `https://receiver.example.com/hook/${made++}`;

/**
 * Stands in for receivers of webhooks: it keeps what it got, and responds as the test says.
 * What is still on its way to webhooks of an earlier test it does not keep.
 */
export function receiver(first: Respond = () => new Response('ok')) {
  const got: Got[] = [];
  const others = new Map<string, (request: Request) => Response | Promise<Response>>();
  let respond = first;
  const madeBefore = made;
  globalThis.fetch = async (url, init) => {
    const request = new Request(url as string, init as RequestInit); // the service calls fetch(string, init)
    const other = others.get(new URL(request.url).origin);
    if (other) return other(request);
    const number = request.url.split('/hook/')[1];
    if (Number(number) < madeBefore) return new Response('ok');
    const call = {
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      body: await request.json<Got['body']>(),
    };
    got.push(call);
    return respond(call);
  };
  return {
    got,
    /** Stands in for another server as well, such as a provider's. */
    serves(origin: string, serve: (request: Request) => Response | Promise<Response>) {
      others.set(origin, serve);
    },
    responds(next: Respond) {
      respond = next;
    },
    returns(status: number) {
      respond = () => new Response(null, { status });
    },
    /** Holds all calls from now on, or those to this URL. Returns what releases them. */
    holds(url?: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      respond = async (call) => {
        if (url === undefined || call.url === url) await promise;
        return new Response('ok');
      };
      return resolve;
    },
  };
}
