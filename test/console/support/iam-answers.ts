import type { S3Client, S3Request } from '../../../console/s3/client.ts';
import type { IamAction } from '../../../console/s3/iam-action.ts';
import { parseXml } from '../../../console/s3/xml.ts';
import { actionResponse } from '../../../shared/documents/query-api.ts';
import type { Written } from '../../../shared/documents/schema.ts';
import { apis } from '../../../shared/protocol/query-api/apis.ts';

/** A client of the console whose actions are answered as the service writes answers. */
export function answering<Value>(
  answer: (action: IamAction) => { readonly content: Written<Value>; readonly value: Value },
): { readonly client: S3Client; readonly sent: readonly IamAction[] } {
  const sent: IamAction[] = [];
  const document = ({ action }: S3Request) => {
    sent.push(action!);
    const { xmlNamespace } = apis.iam;
    return Promise.resolve(
      parseXml(actionResponse(action!.name, answer(action!), { requestId: 'REQUEST', xmlNamespace })),
    );
  };
  return { client: { document } as unknown as S3Client, sent };
}
