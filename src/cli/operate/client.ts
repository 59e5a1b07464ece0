/** A request that failed or got no reply. Its message is for the person at the terminal. */
export class ApiError extends Error {}

/** A client of the operators' routes of one service. */
export type Operator = {
  get: <T>(path: string) => Promise<T>;
  post: <T>(path: string, body: unknown) => Promise<T>;
  patch: <T>(path: string, body: unknown) => Promise<T>;
  delete: <T>(path: string) => Promise<T>;
};

/** Returns a client of the service at `baseUrl`. Its methods return the `data` of a reply, or throw an ApiError. */
export function operatorOf(baseUrl: string, operatorKey: string): Operator {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' };
    return request<T>(`${baseUrl}/operator${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}

/** Makes one request and returns the `data` of its envelope. @throws ApiError */
export async function request<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, init).catch(() => {
    throw new ApiError(`Cannot reach ${new URL(url).origin}. Is the service running? (npm start)`);
  });
  const reply = (await response.json().catch(() => {
    throw new ApiError(`${new URL(url).origin} sent a ${response.status} reply that is not JSON`);
  })) as { message?: string; data: T }; // the envelope
  if (!response.ok) throw new ApiError(`${response.status} ${reply.message ?? response.statusText}`);
  return reply.data;
}
