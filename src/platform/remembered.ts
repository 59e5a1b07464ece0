const most = 1000;

/** What this isolate knows for a while without asking again: up to 1,000 values by key, after which it forgets all. */
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
