import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import type { DeliveryMessage } from '#src/core/webhooks/deliveries/queue.ts';
import worker from '#src/index.ts';
import type { Kernel } from './kernel.ts';
import { Violation } from './model.ts';

export type Reply = {
  status: number;
  tries?: number;
  message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: each route's data is its own
  data?: any;
  next?: string;
  resume?: string;
};
type Ask = (method: string, path: string, headers: object, body?: object) => Promise<Reply>;
export type Asking = ReturnType<typeof asking>;

/** How clients call the service, with what they do when it fails. */
export function asking(kernel: Kernel, env: Env) {
  const { below, sleep } = kernel;
  const begin = async (message: DeliveryMessage): Promise<void> => {
    if (below(10) === 0) throw new Error('This invocation could not start');
    void kernel.invoke('a worker that was begun', async (context) =>
      context.waitUntil(handle(env, message)),
    );
  };
  /** One request; status 0 if nothing came back. */
  const once: Ask = async (method, path, headers, body) => {
    const reply = await kernel.invoke(`${method} ${path}`, async (context): Promise<Reply> => {
      const json = { 'content-type': 'application/json', 'cf-connecting-ip': '192.0.2.1' };
      const init = {
        method,
        headers: { ...json, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      };
      const exports = { Deliveries: { begin } };
      const whole = { ...context, exports } as unknown as ExecutionContext; // what is used of one
      const request = new Request(`https://api.example.com${path}`, init);
      const response = await worker.fetch(request, env, whole);
      return { ...(await response.json<object>()), status: response.status };
    });
    return reply ?? { status: 0 };
  };
  /** Asks until there is a reply that asking again would not change. */
  const insist: Ask = async (...call) => {
    for (let tries = 1; ; tries++) {
      const reply = await once(...call);
      if (reply.status !== 0 && reply.status < 500 && reply.status !== 429)
        return { ...reply, tries };
      await sleep(tries * (1000 + below(2000)));
    }
  };
  const must: Ask = async (...call) => {
    const reply = await insist(...call);
    if (reply.status !== 200)
      throw new Violation(`${call[0]} ${call[1]}: ${reply.status} ${reply.message}`);
    return reply;
  };
  const key = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  return {
    once,
    insist,
    must,
    /** What an operator is returned, once there is a reply. */
    operate: async (path: string, body: object, method = 'POST', ask = must) =>
      ask(method, `/operator${path}`, key, body),
    /** All items of a list, page by page; undefined if a page was refused. */
    // biome-ignore lint/suspicious/noExplicitAny: each list's items are its own
    async list(path: string, headers: object, ask = once): Promise<any[] | undefined> {
      const items = [];
      const limit = 1 + below(50);
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = await ask('GET', `${path}limit=${limit}&cursor=${cursor}`, headers);
        if (page.status !== 200) return undefined;
        items.push(...page.data);
        cursor = page.next;
      }
      return items;
    },
  };
}
