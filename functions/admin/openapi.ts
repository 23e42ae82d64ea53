import * as z from 'zod/mini';
import packageJson from '../../package.json' with { type: 'json' };
import { result } from './results.ts';
import { adminPath, pathOf, type AdministrationCommand } from './command.ts';
import { scopes } from '../../shared/accounts/operators.ts';

/** Where an operator learns what a token allows. */
export const tokenPath = `${adminPath}/token`;

const shownToken = z.object({
  ...{ operator: result.text, scopes: result.list(result.enum(scopes)), created: result.time },
  until: result.optional(result.time),
});

const problem = {
  description: 'Refused',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** Returns the description of the API of operators: https://spec.openapis.org/oas/v3.1.1.html. Its paths follow from the commands. */
export function openApi(commands: readonly AdministrationCommand<never, unknown>[]): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Stillage administration',
      version: packageJson.version,
      description: 'The administrative commands of `stillage`, for operators with bearer tokens.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ operator: [] }],
    paths: {
      ...Object.fromEntries(commands.map((command) => [pathOf(command.name), { post: operationOf(command) }])),
      [tokenPath]: { get: tokenOperation },
    },
    components: {
      securitySchemes: { operator: { type: 'http', scheme: 'bearer', description: 'stillage operator create' } },
      schemas: {
        Problem: {
          type: 'object',
          required: ['type', 'title', 'status', 'detail'],
          properties: {
            ...{ type: { type: 'string' }, title: { type: 'string' } },
            ...{ status: { type: 'integer' }, detail: { type: 'string' } },
          },
        },
      },
    },
  };
}

function operationOf({ name, scope, takes, gives }: AdministrationCommand<never, unknown>): object {
  const [family] = name.split(' ');
  return {
    operationId: name.replaceAll(/[ -](\w)/g, (__, letter: string) => letter.toUpperCase()),
    summary: `stillage ${name}`,
    description: `Needs the scope \`${scope}\`.`,
    tags: [family],
    ...(scope === 'manage' && { parameters: [idempotencyKey] }),
    requestBody: { required: true, content: jsonOf(takes) },
    responses: {
      200: { description: 'Done', content: jsonOf(gives) },
      default: problem,
    },
  };
}

const tokenOperation = {
  operationId: 'token',
  summary: 'Whom the token belongs to, and what it allows',
  description: 'Needs no scope.',
  tags: ['token'],
  responses: { 200: { description: 'Done', content: jsonOf(shownToken) }, default: problem },
};

function jsonOf(type: z.core.$ZodType): object {
  // Clients take what later versions add to results: nothing forbids it. What arguments refuse, their own schema says.
  const { $schema: _, ...schema } = z.toJSONSchema(type, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === result.nothing) jsonSchema.type = 'null';
      // In OpenAPI this is no property of types, but means what clients must not send.
      delete jsonSchema.readOnly;
    },
    unrepresentable: 'any',
  });
  return { 'application/json': { schema } };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repetition with the same key and body within a day gets the answer of the first request.',
  schema: { type: 'string', maxLength: 255 },
};
