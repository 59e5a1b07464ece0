import { settled } from '#test/support/deliveries.ts';
import { story } from '#test/support/story.ts';
import { operator } from '#test/support/world.ts';

const { heard, register, happen } = story();

it('a delivery that is replayed keeps its first attempt and the latest twenty, and counts the others', async () => {
  heard.returns(410);
  const hook = await register();
  await happen();
  const [{ id } = { id: '' }] = await settled(hook.id, 1, ['failed']);
  for (let attempts = 2; attempts <= 25; attempts++) {
    await operator.post(`/operator/deliveries/${id}/replay`, {});
    await expect.poll(() => heard.got, { timeout: 30_000 }).toHaveLength(attempts);
    await settled(hook.id, 1, ['failed']);
  }
  const { data } = await operator.get<{ log: { at: string }[]; attemptsOmitted: number }>(
    `/operator/deliveries/${id}`,
  );
  expect(data.attemptsOmitted).toBe(4);
  expect(data.log).toHaveLength(21);
  const times = data.log.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  const sent = heard.got.map(({ body }) => Date.parse(body.timestamp));
  for (const [i, at] of [sent[0], ...sent.slice(-20)].entries())
    expect(Math.abs(Date.parse(times[i] ?? '') - (at ?? 0))).toBeLessThan(50);
});
