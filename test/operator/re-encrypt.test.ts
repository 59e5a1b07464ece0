import { env } from 'cloudflare:workers';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { reEncrypt } from '#src/operator/re-encrypt.ts';
import { settled, unattempted } from '#test/support/deliveries.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';

const { us, heard, register, happen } = story();
const secret = 'a-very-secret-value';

it('what is sealed with an older key is read, and sealed anew with the newest', async () => {
  const oauth = { tokenUrl: 'https://login.example.com/', clientId: 'c', clientSecret: 's' };
  const hook = await register({ headers: { 'X-Secret': secret }, signing: true, oauth });
  heard.serves('https://login.example.com', () => Response.json({ access_token: 'token' }));
  await happen(1, 'before');
  await settled(hook.id);
  const rotated = { ...env, ENCRYPTION_KEYS: `new:${btoa('n'.repeat(32))},${env.ENCRYPTION_KEYS}` };
  const keys = async () => {
    const stored = [
      'headers',
      ...['signing', 'oauth', 'oauthToken'].map((name) => `options->'${name}'`),
    ];
    const columns = stored.map((one, i) => `${one}->>'key' as c${i}`);
    const [row = {}] = await rows(`select ${columns} from webhooks where id = ?1`, hook.id);
    return Object.values(row);
  };
  expect(await keys()).toEqual(Array(4).fill('test'));
  await rows("update accounts set status = 'moving' where id = ?1", us.accountId);
  expect(await reEncrypt(rotated)).toBe(0);
  await rows("update accounts set status = 'suspended' where id = ?1", us.accountId);
  expect(await reEncrypt(rotated)).toBeGreaterThan(0);
  expect(await keys()).toEqual(Array(4).fill('new'));
  expect(await reEncrypt(rotated)).toBe(0);
  await rows("update accounts set status = 'active' where id = ?1", us.accountId);
  await unattempted(hook.id, happen);
  await handle(rotated, { accountId: us.accountId, webhookId: hook.id, worker: 1 });
  expect(heard.got.at(-1)?.headers['x-secret']).toBe(secret);
});
