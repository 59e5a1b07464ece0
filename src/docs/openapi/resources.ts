import type * as v from 'valibot';
import {
  AccidentLevel,
  Handled,
  LocationInput,
  LocationOutput,
  VehicleLocationInput,
  VehicleLocationOutput,
} from '../../fleet/lists/field-types.ts';
import { capitalised } from '../../fleet/lists/list.ts';
import { lists, recordKinds } from '../../fleet/lists/registry.ts';

export const itemName = ({ kind }: { kind: string }): string => capitalised(kind);

export const recordName = ({ kind }: { kind: string }): string => `${capitalised(kind)}Record`;

/** The items of lists, for the clients' document. */
export const itemSchemas: Record<string, v.GenericSchema> = {
  ...Object.fromEntries(lists.map((resource) => [itemName(resource), resource.item])),
  AccidentLevel,
  Handled,
  Location: LocationOutput,
  VehicleLocation: VehicleLocationOutput,
};

/** The records of connectors, for the operators' document. */
export const recordSchemas: Record<string, v.GenericSchema> = {
  ...Object.fromEntries(recordKinds.map((resource) => [recordName(resource), resource.record])),
  Location: LocationInput,
  VehicleLocation: VehicleLocationInput,
};

/** An example for each of these components. */
export const resourceExamples: Record<string, object> = {
  ...Object.fromEntries(lists.map((resource) => [itemName(resource), resource.itemExample])),
  ...Object.fromEntries(recordKinds.map((resource) => [recordName(resource), resource.recordExample])),
};

/** The descriptions of these components and their properties, by `Component` and `Component.property`. */
export const resourceWords: Record<string, string> = Object.fromEntries([
  ...lists.flatMap((resource) => wordsOf(itemName(resource), resource.description, resource.itemWords)),
  ...recordKinds.flatMap((resource) =>
    wordsOf(recordName(resource), resource.recordDescription, resource.recordWords),
  ),
]);

function wordsOf(name: string, description: string, properties: { [name: string]: string }) {
  const described = Object.entries(properties).map(([property, words]) => [`${name}.${property}`, words]);
  return [[name, description], ...described];
}
