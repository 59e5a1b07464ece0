import { expect, it } from 'vitest';
import { printable, printableJson, tableOf } from '../../../src/cli/operate/print.ts';

const character = (code: number) => String.fromCharCode(code);
const hostile = [0x00, 0x08, 0x0a, 0x0d, 0x1b, 0x7f, 0x9b, 0x200f, 0x202e, 0x2066, 0x2028];

it.each(hostile)('control character %i shows as an escape, in text, in tables and in JSON', (code) => {
  const name = `Acme${character(code)}[31m`;
  const shown = `\\u${code.toString(16).padStart(4, '0')}`;
  expect(printable(name)).toBe(`Acme${shown}[31m`);
  expect(tableOf([[name]], ['name'])).toContain(`Acme${shown}[31m`);
  expect(tableOf([[{ name }]])).not.toContain(`Acme${character(code)}`);
  const json = printableJson({ name });
  expect(json.replaceAll('\n', '')).not.toContain(character(code));
  expect(JSON.parse(json)).toEqual({ name });
});

it('all other text stays as it is', () => {
  const names = ['Żółw & Söhne', '東京配送', 'نقل', '🚚 Trucks', '–'];
  expect(names.map(printable)).toEqual(names);
});
