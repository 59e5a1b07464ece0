import { type Connection, maxConnectionsListed } from '../../fleet/connections.ts';
import { nameOf } from '../connections/connections.tsx';
import { Choice, FieldProblem, FormButton } from '../ui/forms.tsx';

/** With more connections than this there is a search. */
const plenty = 8;

/**
 * The connections that a webhook gets notifications of. A search narrows what is listed to what matches, and what is
 * chosen stays chosen.
 */
export const Connections = (props: {
  connections: Connection[];
  chosen: Set<string>;
  find: string;
  to: string;
  error: string | undefined;
}) => {
  const { connections, chosen, find, to, error } = props;
  const matches = connections.filter((connection) => isFound(connection, find));
  const others = connections.filter(({ id }) => chosen.has(id) && !matches.some((match) => match.id === id));
  return (
    <fieldset class="form-section" id="connections" aria-describedby="connections-error">
      <legend class="legend mb-3">Connections</legend>
      {connections.length === 0 && (
        <p class="hint">There are no connections yet, so nothing would be sent.</p>
      )}
      {connections.length > plenty && (
        <div class="search">
          <label class="sr-only" for="find">
            Find connections
          </label>
          <input
            class="input"
            id="find"
            name="find"
            type="search"
            value={find}
            placeholder="Find by name or provider"
            data-filter="connection-choices"
          />
          <input type="hidden" name="found" value={find} />
          <FormButton to={`${to}#connections`} does="find" icon="search">
            Find
          </FormButton>
        </div>
      )}
      {find !== '' && (
        <p class="hint">
          {matches.length} of {connections.length} match “{find}”. {chosen.size} are chosen; those that are
          not listed stay chosen.
        </p>
      )}
      {others.map(({ id }) => (
        <input type="hidden" name="connectionIds" value={id} />
      ))}
      <div
        class={`choices choices-2${connections.length > plenty ? ' choices-many' : ''}`}
        id="connection-choices"
      >
        {matches.map((connection) => (
          <Choice
            type="checkbox"
            name="connectionIds"
            value={connection.id}
            checked={chosen.has(connection.id)}
            label={nameOf(connection)}
            note={connection.tsp}
          />
        ))}
      </div>
      {connections.length === maxConnectionsListed && (
        <p class="hint">Only the first 1,000 connections are listed. Saving leaves the others as they are.</p>
      )}
      <FieldProblem id="connections-error" message={error} />
    </fieldset>
  );
};

const isFound = (connection: Connection, find: string): boolean =>
  `${nameOf(connection)} ${connection.provider} ${connection.tsp}`
    .toLowerCase()
    .includes(find.trim().toLowerCase());
