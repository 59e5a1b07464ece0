/** What workerd has of Node's module with the flag `nodejs_als`, as far as it is used here. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, work: () => R): R;
    getStore(): T | undefined;
  }
}
