import { fakeService } from '#test/support/node/index.ts';

let calls = 0;
const { start } = await fakeService(() => {
  calls++;
  if (calls === 2) return { status: 503 };
  return { data: [{ id: 'd', level: null, status: 'pending', attempts: calls, log: [] }] };
});

it('fleet delivery list --follow goes on after a call that failed for a while', async () => {
  const tool = start('delivery list --webhook w --follow');
  await expect.poll(() => tool.printed, { timeout: 30_000 }).toContain('attempt 3');
  tool.child.kill();
  await tool.ended;
});
