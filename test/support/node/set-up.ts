// What a test has stubbed is over with it.
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
