import sys

from comparison.main import main

sys.exit(main())
