import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keepMissing } from '../../../src/cli/deploy/keys.ts';
import { planOf } from '../../../src/cli/deploy/plan.ts';
import { temporaryFolder } from '../../support/node/folder.ts';

const folder = temporaryFolder();
const plan = planOf({});
const nothing = { database: undefined, secrets: [] };
afterEach(() => vi.unstubAllEnvs());

describe('the keys of a deployment', () => {
  it('are not made in CI, where they would be lost with the machine', () => {
    vi.stubEnv('CI', 'true');
    expect(() => keepMissing(folder, plan, nothing)).toThrow('Deploy once from your own machine');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are not made anew for a database that was sealed with others', () => {
    vi.stubEnv('CI', '');
    const found = { database: { id: 'd' }, secrets: ['OPERATOR_KEY'] };
    expect(() => keepMissing(folder, plan, found)).toThrow(/Put its HEADER_KEYS into .*header\.keys/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are not made anew for a second cell', () => {
    vi.stubEnv('CI', '');
    const cell = planOf({ name: 'fleet-eu', cell: 'eu', domain: 'api.example.com' });
    const found = { ...nothing, secrets: ['OPERATOR_KEY'] };
    expect(() => keepMissing(join(folder, 'fleet-eu'), cell, found)).toThrow(
      /Cells share their HEADER_KEYS.*Put those of the cell main into .*header\.keys/,
    );
  });
});
