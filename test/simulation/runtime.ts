import { timingSafeEqual } from 'node:crypto';
import { vi } from 'vitest';
import type { Kernel } from './kernel.ts';

/** Does this call reach a receiver, and what does it respond? It never returns when the receiver hangs. */
export type Respond = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Has the Worker's code run in Node with the kernel's clock, chance and timers: whatever it asks of its runtime depends on
 * the seed alone. Returns whether cryptography, the one thing that takes real time, is at work.
 */
export function workerRuntime({ clock, random, sleep, note }: Kernel, respond: Respond): () => boolean {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  const RealDate = Date;
  vi.stubGlobal(
    'Date',
    class extends RealDate {
      constructor(...given: []) {
        super(...((given.length > 0 ? given : [clock()]) as []));
      }
      static override now = clock;
    },
  );
  vi.stubGlobal('scheduler', {
    wait: (ms: number, { signal }: { signal?: AbortSignal } = {}) => sleep(ms, signal),
  });
  vi.stubGlobal('fetch', respond);
  vi.spyOn(Math, 'random').mockImplementation(random);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController();
    void sleep(ms).then(() => controller.abort(new DOMException('took too long', 'TimeoutError')));
    return controller.signal;
  });
  vi.spyOn(console, 'info').mockImplementation(() => {});
  for (const level of ['warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation((line) => note(line.replace(/,"stack".*/, '')));

  let atWork = 0;
  let last: Promise<unknown> = Promise.resolve();
  const { subtle } = crypto;
  /** One after the other, so that the order in which they end is always the same. */
  const inOrder =
    (name: 'digest') =>
    (...args: [string, ArrayBuffer]) => {
      atWork++;
      const done = last.then(() => subtle[name](...args));
      last = done.catch(() => {}).then(() => void atWork--);
      return done;
    };
  vi.stubGlobal('crypto', {
    getRandomValues: (bytes: Uint8Array) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
      return bytes;
    },
    subtle: new Proxy(subtle, {
      get: (_, name) =>
        name === 'timingSafeEqual'
          ? (a: ArrayBuffer, b: ArrayBuffer) => timingSafeEqual(new Uint8Array(a), new Uint8Array(b))
          : inOrder(name as 'digest'), // the others are called alike
    }),
  });
  return () => atWork > 0;
}
