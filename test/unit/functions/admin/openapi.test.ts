import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../../../functions/admin/openapi.ts';
import { administrationCommands } from '../../../../local/cli/commands/administration-commands.ts';

describe('the description of the API of operators', () => {
  const document = openApi(administrationCommands) as {
    readonly paths: Readonly<Record<string, { readonly post: { readonly operationId: string } }>>;
  };

  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  it('has every command once, by a name that programs can use', () => {
    expect(Object.keys(document.paths)).toHaveLength(administrationCommands.length);
    const ids = Object.values(document.paths).map(({ post }) => post.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]*$/);
  });

  it('describes the pages of lists', () => {
    for (const [family, entries] of Object.entries({ customer: 'customers', user: 'users', key: 'keys' })) {
      const list = document.paths[`/_stillage/admin/v1/${family}/list`];
      expect(list).toMatchObject({
        post: {
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  properties: { after: { type: 'string' }, limit: { type: 'integer', minimum: 1, maximum: 1000 } },
                },
              },
            },
          },
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: {
                    required: [entries],
                    properties: { [entries]: { type: 'array' }, next: { type: 'string' } },
                  },
                },
              },
            },
          },
        },
      });
    }
  });

  it('describes arguments as the commands take them', () => {
    expect(document.paths['/_stillage/admin/v1/quota/set/bucket']).toMatchObject({
      post: {
        operationId: 'quotaSetBucket',
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['bucket'],
                additionalProperties: false,
                properties: { bucket: { type: 'string' } },
              },
            },
          },
        },
      },
    });
  });
});
