// The TypeScript SDK of the handshake revisions authorizes itself.

import { clientInfo, journey, modules, url } from './session.mjs';

const sdk = `${modules}/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);
const { UnauthorizedError } = await import(`${sdk}/auth.js`);

await journey(async (authProvider, remember) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    remember({ finishAuth: (answer) => transport.finishAuth(answer.get('code')) });
    const client = new Client(clientInfo);
    await client.connect(transport);
    return client;
}, UnauthorizedError);
