import type { Question } from '../../access/authorise.ts';
import type { Account, User } from '../../access/identity.ts';
import { actionResponse } from '../../documents/query-api.ts';
import type { Written } from '../../documents/schema.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { QueryApi } from '../../http/query-api.ts';
import type { ImplementedName } from '../operation-table.ts';
import { defineOperation, type Context, type DocumentBody, type Needs } from '../operation.ts';
import { ActionForm } from './action-form.ts';
import { apis } from './apis.ts';
import { readParameters, shownParameters, type Parameters } from './parameters.ts';

/** Who signed the request. */
export interface Signer extends User {
  readonly project: Account;
}

/** What an action may use. */
export type ActionContext = Omit<Context<'service', 'none'>, 'caller' | 'bucket'> & {
  readonly caller: Signer;
};

/** One action of an API in AWS's Query protocol. Three steps: read the parameters, state the questions for authorisation, act. */
export interface Action<Input, Output> {
  readonly name: string;
  readonly parameters: Parameters<Input>;
  /** The questions to be authorised; none: everybody with a key may. */
  authorise(input: Input, caller: Signer): readonly Question[];
  act(input: Input, context: ActionContext): Promise<Output>;
  /** What it returns. Undefined: nothing. */
  readonly result?: Written<Output>;
}

/** An action for everybody: whoever asks has no key, and proves otherwise what they may. Who signed the request does not matter. */
interface OpenAction<Input, Output> extends Pick<Action<Input, Output>, 'name' | 'parameters' | 'result'> {
  readonly isOpen: true;
  act(input: Input, context: Omit<ActionContext, 'caller'>): Promise<Output>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- existential types are spelled `any` in TypeScript
type AnyAction = Action<any, any> | OpenAction<any, any>;

/** Defines an action, and infers the types of its steps from each other. */
export function defineAction<Input, Output>(action: Action<Input, Output>): Action<Input, Output> {
  return action;
}

/** As {@link defineAction}, for everybody. */
export function defineOpenAction<Input, Output>(
  action: Omit<OpenAction<Input, Output>, 'isOpen'>,
): OpenAction<Input, Output> {
  return { ...action, isOpen: true };
}

const form: DocumentBody<ActionForm> = {
  maximum: 'documentBytes',
  chunked: true,
  read: (bytes) => ActionForm.parse(bytes),
};

/** Defines the operation that performs the actions of an API: the form names one. */
export function defineApi(definition: {
  readonly name: ImplementedName;
  readonly api: QueryApi;
  readonly needs: Needs;
  readonly actions: readonly AnyAction[];
}) {
  const { name, api, needs, actions } = definition;
  const { version, xmlNamespace } = apis[api];
  const byName = new Map(actions.map((action) => [action.name, action]));
  return defineOperation({
    name,
    on: 'service',
    body: form,
    needs,

    parse: () => undefined,

    // Each action has its own questions, which are asked once the form has named it.
    authorise: () => [],

    act: async (_, { document, caller, ...context }) => {
      const asked = { action: document.get('Action') ?? '', version: document.get('Version') ?? '' };
      const action = asked.version === version ? byName.get(asked.action) : undefined;
      if (action === undefined) throw notFound(asked);
      context.performs(action.name, shownParameters(action.parameters, document));
      const perform = async (): Promise<unknown> => {
        if ('isOpen' in action) return action.act(readParameters(action.parameters, document), context);
        if (caller.kind !== 'user') throw new S3Error('MissingAuthenticationToken');
        const signer: Signer = { ...caller, project: await context.projects.account(caller.project) };
        const input: unknown = readParameters(action.parameters, document);
        for (const question of action.authorise(input, signer)) await context.authoriseLook(question);
        return action.act(input, { ...context, caller: signer });
      };
      const value = await perform();
      const { requestId } = context;
      return actionResponse(action.name, action.result && { content: action.result, value }, {
        requestId,
        xmlNamespace,
      });
    },

    render: (xml) => ({ xml }),
  });
}

function notFound({ action, version }: { readonly action: string; readonly version: string }): S3Error {
  const message = `Could not find operation ${action.slice(0, 100)} for version ${version.slice(0, 100)}`;
  return new S3Error('InvalidAction', { message });
}
