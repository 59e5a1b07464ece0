import { timingSafeEqual } from 'node:crypto';
import type { Kernel } from './kernel.ts';

/** Does this call reach a receiver, and what does it respond? It never returns when the receiver hangs. */
export type Respond = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Has the Worker's code run in Node with the kernel's clock, chance and timers: whatever it asks of its runtime depends on
 * the seed alone. Returns whether something that takes real time is at work: cryptography, or reading a Blob.
 */
export function workerRuntime(
  { clock, random, sleep, note }: Kernel,
  respond: Respond,
): () => boolean {
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
  /** One after the other, so that the order in which they end is always the same. */
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    atWork++;
    const done = last.then(work);
    last = done.catch(() => {}).then(() => void atWork--);
    return done;
  };
  const { subtle } = crypto;
  const { arrayBuffer } = Blob.prototype;
  vi.spyOn(Blob.prototype, 'arrayBuffer').mockImplementation(function (this: Blob) {
    return inOrder(() => arrayBuffer.call(this));
  });
  vi.stubGlobal('crypto', {
    getRandomValues: (bytes: Uint8Array) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
      return bytes;
    },
    subtle: new Proxy(subtle, {
      get: (_, name) =>
        name === 'timingSafeEqual'
          ? (a: ArrayBuffer, b: ArrayBuffer) =>
              timingSafeEqual(new Uint8Array(a), new Uint8Array(b))
          : (...args: [string, ArrayBuffer]) => inOrder(() => subtle[name as 'digest'](...args)), // the others are called alike
    }),
  });
  return () => atWork > 0;
}
