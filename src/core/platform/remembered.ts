const most = 1000;

/** What this isolate knows for a while: up to 1,000 values by key. */
export function remembered<T>() {
  const known = new Map<string, { value: T; until: number }>();
  return {
    get(key: string): T | undefined {
      const found = known.get(key);
      return found && found.until > Date.now() ? found.value : undefined;
    },
    set(key: string, value: T, ms: number): T {
      if (known.size >= most) known.clear();
      known.set(key, { value, until: Date.now() + ms });
      return value;
    },
  };
}

/** Makes a function that computes its result once per isolate for each object. */
export function oncePer<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const made = new WeakMap<K, { value: V }>();
  return (of) => {
    const found = made.get(of) ?? { value: make(of) };
    made.set(of, found);
    return found.value;
  };
}
