// A client of the API of operators, docs/admin-api.md, in a few lines.
import { readFileSync } from 'node:fs';

/** A refusal of the service, with its reason. */
export class Refused extends Error {
  constructor({ status, detail }) {
    super(detail);
    this.status = status;
  }
}

/**
 * Returns a function that carries out a command.
 * @param endpoint `http://127.0.0.1:9002`. @param tokenFile the file with the token of an operator
 */
export function operator(endpoint, tokenFile) {
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;
  /** @param key the request's `Idempotency-Key`: with it, a repetition does nothing twice */
  return async (command, given, key) => {
    const response = await fetch(`${endpoint}/_stillage/admin/v1/${command.replaceAll(' ', '/')}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
      body: JSON.stringify(given),
    });
    const answer = await response.json();
    if (!response.ok) throw new Refused(answer);
    return answer;
  };
}
