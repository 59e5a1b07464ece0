import { readFileSync } from 'node:fs';
import { exchangesWith } from './exchanges.ts';
import { departures } from './published.ts';

/** `npm run check:stand-ins -- samsara FILE`: holds a stand-in against the description that its provider publishes. */
const [provider = '', file] = process.argv.slice(2);
const { [provider]: exchanges } = exchangesWith;
if (!exchanges || !file) {
  console.error(`Usage: npm run check:stand-ins -- ${Object.keys(exchangesWith).join('|')} FILE`);
  process.exit(2);
}
const found = departures(JSON.parse(readFileSync(file, 'utf8')), await exchanges());
console.log(found.length > 0 ? found.join('\n') : `The stand-in of ${provider} fits its description.`);
process.exitCode = found.length > 0 ? 1 : 0;
