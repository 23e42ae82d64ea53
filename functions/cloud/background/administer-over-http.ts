import { AdminApi } from '../../admin/admin-api.ts';
import { administrationCommands } from '../../../local/cli/commands/administration-commands.ts';
import { Fields, type RequestMessage } from '../../../shared/http/message.ts';
import { requestIds } from '../../../shared/node-http/request-ids.ts';
import { toProxyResult, type ProxyEvent } from '../api-gateway.ts';
import { maximumAnswerBytes } from '../function-limits.ts';
import { administrationOf } from './administration.ts';
import { backgroundHandler } from './background-handler.ts';

/** What the event of a REST API has besides. Paths of commands are words, which API Gateway leaves as they are. */
interface AdminEvent extends ProxyEvent {
  readonly path: string;
  readonly multiValueQueryStringParameters: object | null;
  readonly requestContext: { readonly identity: { readonly sourceIp: string } };
}

/** Carries out administrative commands over HTTP for operators with tokens, behind an API of its own. */
export const handler = backgroundHandler(
  'administer over HTTP',
  async (cloud) => {
    const { administration, secrets, audit } = await administrationOf(cloud);
    const api = new AdminApi({
      ...{ administration, secrets, audit, commands: administrationCommands },
      operators: administration.operators,
      telemetry: cloud.log,
      requestId: requestIds(cloud.randomness),
    });
    return async (event: AdminEvent) => {
      const answer = await api.handle(requestOf(event));
      await audit?.flush();
      return toProxyResult(answer, event.httpMethod, maximumAnswerBytes);
    };
  },
  { secretAnswer: true },
);

function requestOf(event: AdminEvent): RequestMessage {
  const { body, isBase64Encoded, multiValueHeaders, multiValueQueryStringParameters } = event;
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  const entries = Object.entries(multiValueHeaders ?? {});
  return {
    method: event.httpMethod,
    // A query is refused, whatever it is.
    target: event.path + (multiValueQueryStringParameters === null ? '' : '?'),
    fields: new Fields(entries.flatMap(([name, values]) => values.map((value) => [name, value] as const))),
    body: body === null ? undefined : once(bytes),
    secure: true,
    remoteAddress: event.requestContext.identity.sourceIp,
    received: () => bytes.byteLength,
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
