import { vi } from 'vitest';

/** One call that the receiver got. */
export type Got = {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: { timestamp: string; type: number; data: Record<string, unknown> };
};

type Answer = (got: Got) => Response | Promise<Response>;

/**
 * Stands in for the receivers of webhooks inside workerd, where there is nobody outside to call: it keeps what
 * it got, and answers as told. Journeys use real receivers over HTTPS.
 */
export function receiver(first: Answer = () => new Response('ok')) {
  const got: Got[] = [];
  let answer = first;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    const request = new Request(url as string, init as RequestInit); // deliveries call fetch(string, init)
    const call = {
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      body: await request.json<Got['body']>(),
    };
    got.push(call);
    return answer(call);
  });
  return {
    got,
    /** From now on answers so. */
    answers(next: Answer) {
      answer = next;
    },
  };
}
