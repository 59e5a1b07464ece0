/** What Node has of these modules, as far as the simulation uses it: the Worker's own project knows nothing of Node. */
declare module 'node:sqlite' {
  export type Value = string | number | bigint | null | Uint8Array;
  export class StatementSync {
    all(...values: Value[]): Record<string, Value>[];
    setReturnArrays(enabled: boolean): void;
  }
  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    function(name: string, options: { varargs: boolean }, call: (...values: Value[]) => Value): void;
    close(): void;
  }
}
declare module 'node:crypto' {
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}
declare function setImmediate(callback: () => void): void;
