import { describe, expect, it } from 'vitest';
import { gatewayErrors, gatewayResponses } from '../../infra/constructs/gateway-responses.ts';
import { errorTable, type ErrorCode } from '../../shared/errors/table.ts';

describe('what API Gateway answers itself', () => {
  it.each(Object.entries(gatewayErrors))('%s is a row of the error table', (_, { code, status, message }) => {
    expect({ status, message }).toEqual(errorTable[code as ErrorCode]);
  });

  it.each(Object.entries(gatewayResponses()))('%s is an S3 error whatever the client accepts', (type, response) => {
    const { responseTemplates, responseParameters } = response as Record<string, Record<string, string>>;
    expect(responseParameters!['gatewayresponse.header.Content-Type']).toBe("'application/xml'");
    expect(new Set(Object.values(responseTemplates!)).size).toBe(1);
    expect(responseTemplates!['application/json']).toContain(`<Code>${gatewayErrors[type]!.code}</Code>`);
  });

  it('tells clients that must slow down when to try again', () => {
    const responses = Object.values(gatewayResponses()) as Record<string, Record<string, string>>[];
    const slowing = responses.filter(({ responseTemplates }) =>
      responseTemplates!['application/xml']!.includes('SlowDown'),
    );
    expect(slowing).toHaveLength(2);
    for (const response of responses) {
      const header = response['responseParameters']!['gatewayresponse.header.Retry-After'];
      expect(header).toBe(slowing.includes(response) ? "'1'" : undefined);
    }
  });

  it('asks for what it does not know to be sent again: a path is unknown only while a deployment is upgraded', () => {
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
    expect(gatewayErrors['MISSING_AUTHENTICATION_TOKEN']).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
  });

  it('covers whatever it may be', () => {
    expect(Object.keys(gatewayErrors)).toEqual(expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX']));
  });
});
