import { expect, it } from 'vitest';
import { settingsOf } from '../../../src/cli/deploy/settings.ts';

it.each([
  [{ name: 'Fleet!' }, '--name must be up to 30 lowercase letters'],
  [{ domain: 'https://api.example.com/x' }, '--domain must be a host name'],
  [{ emailFrom: 'nobody' }, '--email-from must be an email address'],
  [{ retentionDays: '3' }, '--retention-days must be a whole number of days from 7'],
  [{ location: 'mars' }, '--location must be one of wnam, enam, weur, eeur, apac, oc, not "mars"'],
  [{ replicas: 'maybe' }, '--replicas must be true or false'],
  [{ jurisdiction: 'uk' }, '--jurisdiction must be one of eu, us, fedramp, not "uk"'],
  [{ home: 'EU' }, "--home: A home's name is up to 16 lowercase letters and digits"],
  [{ home: 'main' }, '--home main is there already'],
  [{ home: 'fleet' }, '--home cannot be fleet'],
])('%j is refused', (options, reason) => {
  expect(() => settingsOf(options)).toThrow(reason);
});

it('an empty setting counts as absent, as GitHub passes variables that are not set', () => {
  expect(settingsOf({ name: '', location: '' })).toEqual({});
});
