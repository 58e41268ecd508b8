"""The WSGI application: everything but the websockets."""

import os

from django.core.wsgi import get_wsgi_application

from vlaarena.production import refuse_built_in_secret

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
application = get_wsgi_application()
refuse_built_in_secret()
