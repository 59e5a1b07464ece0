import { clientDocument } from './client.ts';
import { operatorDocument } from './operator.ts';

/** Prints both documents, each under the path it is served at. */
console.log(
  JSON.stringify({
    '/openapi.json': clientDocument(),
    '/openapi.operator.json': operatorDocument(),
  }),
);
