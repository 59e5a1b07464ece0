/** The part of Node's module that workerd has with the flag `nodejs_als`, as far as it is used here. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, work: () => R): R;
    getStore(): T | undefined;
  }
}
