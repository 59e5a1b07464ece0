import * as v from 'valibot';

/** One operation of the operators' API: of its route, documentation and tool. */
export type Operation = {
  /** The method and path below `/operator`; an `:id` is of the list that begins it. */
  call: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  summary: string;
  description?: string;
  query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  body?: v.ObjectSchema<v.ObjectEntries, undefined>;
  /** The type of `data`: handlers return the schema's input, which is not validated. */
  reply: v.GenericSchema;
  part?: 'slice';
};

/* What requests are made of. */

export const Uuid = v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase());

/** A whole number; a missing one stays unchanged, and null is none. */
export const wholeNumber = (least: number, most: number) => {
  const must = `must be a whole number from ${least} to ${most}`;
  return v.optional(
    v.nullable(
      v.pipe(v.number(must), v.integer(must), v.minValue(least, must), v.maxValue(most, must)),
    ),
  );
};
