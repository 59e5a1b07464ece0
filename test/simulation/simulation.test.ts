import { run } from './run.ts';

const migrations: string[] = JSON.parse(process.env.MIGRATIONS ?? '[]');

it('whatever happens, promises are kept, and each seed does the same by itself', async () => {
  await run(1, 2500, migrations);
  const afterAnother = await run(2, 2500, migrations);
  vi.resetModules();
  const { run: again } = await import('./run.ts');
  expect(await again(2, 2500, migrations)).toEqual(afterAnother);
});
