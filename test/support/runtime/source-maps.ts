/** What Vitest keeps of the modules that it has loaded into this Worker. */
type Loaded = {
  getModuleById(
    id: string,
  ): { meta?: { code?: string; sourceMap?: string | undefined } } | undefined;
  getModuleSourceMapById(id: string): unknown;
};

/**
 * Lets failures name the lines of the source. Vitest 5.1 stores a module and its source map in one file, which version
 * 1.5 of Cloudflare's plugin hands to the Worker unsplit, as code: here the two are told apart again.
 */
export function findSourceMaps(): void {
  const worker = globalThis as { __vitest_worker__?: { evaluatedModules: Loaded } }; // Vitest's own
  const loaded = worker.__vitest_worker__?.evaluatedModules;
  if (!loaded || Object.hasOwn(loaded, 'getModuleSourceMapById')) return;
  const find = loaded.getModuleSourceMapById;
  loaded.getModuleSourceMapById = (id) => {
    const meta = loaded.getModuleById(id)?.meta;
    if (meta) meta.sourceMap ??= meta.code?.split('\n//# vitestSourceMap=').at(1);
    return find.call(loaded, id);
  };
}
