import { readFileSync } from 'node:fs';
import { exchangesWith } from './exchanges.ts';
import { departures } from './published.ts';

/** `node test/dev/fakes/check.ts samsara FILE`: holds a fake against the description that its provider publishes. */
const [provider = '', file] = process.argv.slice(2);
const { [provider]: exchanges } = exchangesWith;
if (!exchanges || !file) {
  console.error(`Usage: node test/dev/fakes/check.ts ${Object.keys(exchangesWith).join('|')} FILE`);
  process.exit(2);
}
const found = departures(JSON.parse(readFileSync(file, 'utf8')), await exchanges());
console.log(found.length > 0 ? found.join('\n') : `The fake of ${provider} fits its description.`);
process.exitCode = found.length > 0 ? 1 : 0;
